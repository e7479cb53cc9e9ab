BBBB BBBB BBBBBB
 #

XXXXXXXX XXXXXXXXXXXXXX
  XXXXXXXX
    XXXX pgettext(u'heading', u'Nodes') XXXXX
    XXXXX XXXXXXXXXXXXXX
      BB BBBBBBBBBBB B BBBBBBBBBBBB
         pgettext(u'text, clusters', u'first %(n)s of %(all)s') 
          SSSSS SSSSS SS SSSSSSS
        
      BBBB
        FFFFFFFFFFFFFFFF
      BBBBB
    XXXXXXX
  XXXXXXXXX
  BB BBBBB
    XXXX XXXXXXXXXXX XXXXX
      BBB B BB BBBBB
        XX XXXXXXXXXXXX
           XXXXXXXXXXXXXXXXXXXXXXX
           XXXXXXXFFFFFFFFFFXX
          XXXXXXXX XXXXXXXXX XXXXXXXX XXXXXXXXXXXXXXXXX XX
          
          BB BBBBBBBBBBBB
            XXXXX XXXXXXXXXXXXXX
               pgettext(u'number of GPUs', u'%(u)s of %(t)s in use') 
                SSSSS SS SSSSS SS SSS
              
            XXXXXXX
          BBBBB
        XXXX
      BBBBBB
    XXXXXX
  BBBB
    XX XXXXXXXXXXX XXXXX XXXXXXX gettext(u'No matching nodes.') XXXX
  BBBBB
XXXXXXXXXX
