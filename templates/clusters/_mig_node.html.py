BBBB BBBB BBBBBB
 #

XXXXXXXX XXXXXXXXXXXXXX
  XXXXXXXX
    XXXX
      XX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
    XXXXX
    BB BBB BBBBBBBB
      XXXXXXXX XXXXXXXXXXXXX XXXXXXXX XX
      XXXXX XXXXXXXXXXXX XXXXXXXFFFXXXXXXX
    BBBBB
  XXXXXXXXX
  XXXX XXXXXXXXXXX XXXXXXXXX
    BB BBBBBBBBBB
      XXXXXXX XXXXXXXXXX XXXXXXXFFFFFFFFFFXX
        BB BBBBBBBBBBBBBBBB
           gettext(u'Its GPUs have their former layout, and the node is in service.') 
        BBBB BBBBBBBBBBBBBBB
           gettext(u'The node stays drained. Check its GPUs, then resume it on its page.') 
        BBBB
           gettext(u'The node is in service. Check its GPUs: they may have another layout than its scheduler expects.') 
        BBBBB
      XXXXXXXXX
    BBBB BBBBBBBBB
      XX XXXXXXXXXXXXXXFFFFFFFFFFXXXX
    BBBBB
    BB BBBBBBBBBBBBBBBBBBBBB BBB BBBBBBBBB
      XXXXX XXXXXXXXXXXXXX
        BBBBBBBBBB
        XXXXXX XXXXXXXXXXXXX XXXXXXXXXXX XXXXXXXXX
        XXXXXXX XXXXXXXXXX XXXXXX XXXXXXXXX XXXXXXXXXXXXXXXX pgettext(u'button', u'Confirm: done') XXXXXXXXX
      XXXXXXX
    BBBBB
    BB BBBBBBBBB
      XX XXXXXXXXXXXXXX
        XXXXX XXXXXXXXXXXXXXXXXX
           ngettext(u'1 job must end first:', u'%(n)s jobs must end first:', count) 
            S SSS SSSS SSS SSSSSS
          
            PPPPP PPPP PPPP PPP PPPPPP
          
        XXXXXXX
        BBB BBB BB BBBBBBBBBBBBBBBBBBBB
          XX XXXXXXXXXXXXXXX XXXXXBB BBB BBBBBBBBBBBBXBBBBB
        BBBBBB
        BB BBBBBBBBBBBBBBBB B BXBBBBB
      XXXX
    BBBBB
    BBB B BB BBBBBBBBBBBBBBBBB
      XX XXXXXXXXXXXX XXXXXXXXXXX
         gettext(u'%(n)s × %(type)s are reserved for %(team)s until %(date)s') 
          SSSSS S SSSSSSSS SSS SSSSSSSS SSS SSSSSSSS SSSSS SSSSSSSS
        
        BB BBBBBB
          XX XXXXXXXX pgettext(u'link', u'Open request') XXXX
        BBBBB
      XXXX
    BBBBBB
    XXXX XXXXXXXXXXXXXXXXX
      BBB BBB BB BBBBBBBBB
        XXXX XXXXXXXXXXXXXXXX
          XXXXX XXXXXXXXXXXXXX XXXXXXXXX
            BB BBBBBBBB
              XX XXXXXXXXXXXXXXXXX XXXX
            BBBB
              XXX 
            BBBBB
            XXXXX XXXXXXXXXXXXXXFFFFFFFFXXXXXXX
          XXXXXXX
          XXXXX
            XXXXX XXXXXXXXXXXXXXXXXX XXXXX XXXXXXX pgettext(u'text, clusters', u'Before') XXXXXXX
            BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBBBBB
          XXXXXX
          XXXXX
            XXXXX XXXXXXXXXXXXXXXXXX XXXXX XXXXXXX pgettext(u'text, clusters', u'After') XXXXXXX
            BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBBBB
          XXXXXX
        XXXXXX
      BBBBBB
    XXXXXX
    BB BBBBBBBBBBBBBB
      XX XXXXXXXXXXXX XXXXXXX
         ngettext(u'1 other GPU of this node stays as it is.', u'%(n)s other GPUs of this node stay as they are.', count) 
          S SSSSS SSS SS SSSS SSSS SSSSS SS SS SSS
        
          PPPPP PPPPP PPPP PP PPPP PPPP PPPP PP PPPP PPPP
        
      XXXX
    BBBBB
  XXXXXX
XXXXXXXXXX
