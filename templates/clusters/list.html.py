BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
   gettext(u'The schedulers that run jobs. Nodes and GPUs are discovered automatically.') 
  XXXXXXX XXXXXXX pgettext(u'page title', u'Clusters') X
          XXXXXXX
    XXXXXXX XXXXXXXXXXXXXXX
      BB BBBBBBBBB
        XX XXXXXXXXXX XXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX gettext(u'Connect a cluster') XXXX
      BBBBB
    XXXXXXXXX
  XXXXXXXXX
  XXXX XXXXXXXXXXXXXX
    BBB B BB BBBBBBBBB
      BB BBBBBBBBB
        XXXX XXXXXXXXXXX XXXX XXXXXXXXXXXXXX
          XXX
            BB BBBBBBBBBBBBBBB
               gettext(u"<b>%(name)s</b> isn't responding (%(time)s): %(why)s") 
                SSSSSSSSSSSSSSS SSSSS SSSSSSSSSS SSSSSSSSSSS SSSSSSS
              
            BBBB
               gettext(u"<b>%(name)s</b> isn't responding: %(why)s") 
                SSSSSSSSSSSSSSS SSSSS SSSSSSSSSSS SSSSSSS
              
            BBBBB
            XX XXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'link', u'Open it') XXXX
          XXXX
        XXXXXX
      BBBBB
    BBBBBB
    BB BBBBBBBBB
      XXXXXXXXXX XXXXXXXXXXXX XXXXXXXXXXXX XX
      XXXXXXXX XXXXXXXXXXXX XX
    BBBB
      XXXXXXXX XXXXXXX pgettext(u'empty list', u'No clusters yet') XX
         gettext(u'Connect the scheduler that your jobs run on. Nodes and GPUs are discovered automatically.') 
        XXXXXXX XXXXXXXXXXXXXXX
          XX XXXXXXXXXX XXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX gettext(u'Connect a cluster') XXXX
        XXXXXXXXX
      XXXXXXXXXX
    BBBBB
  XXXXXX
BBBBBBBB
