BBBB BBBB BBBBBB
 #

XXXX XXXXXXXXXXXX XXXXXXXX XXXXXXXXXXXXX
  BB BBBBBBBBBBBBBBBB
    XXXXXXXX XXXXXXX gettext(u'Nothing else is recorded') X
             XXXXXXXXXXXXXXX XXXXXXX XX
       gettext(u'A graph appears here when a job names a dataset version as an input, writes a version, or a model is registered from a run or a checkpoint.') 
        S SSSSS SSSSSSS SSSS SSSS S SSS SSSSS S SSSSSSS SSSSSSS SS SS SSSSSS SSSSSS S SSSSSSSS SS S SSSSS SS
        SSSSSSSSSS SSSS S SSS SS S SSSSSSSSSSS
      
    XXXXXXXXXX
  BBBB
    XXXX XXXXXXXXXX XXXXXXXXXXXXXX
      XX XXXXXXXXXXXX XXXXXXX
         npgettext(u'number of things', u'%(n)s node', u'%(n)s nodes',count) 
          SSSSS SSSS
        
          PPPPP PPPPP
        
        BB BBBBBBBBBBBBBB
          X
           npgettext(u'number of things', u"%(n)s you can't see", u"%(n)s you can't see",count) 
            SSSSS SSS SSSSS SSS
          
            PPPPP PPP PPPPP PPP
          
        BBBBB
        BB BBBBBBBBBBBBBB
          X
          XXXXX XXXXXXXXXXXXXXXXXX gettext(u'not complete: there is more beyond this') XXXXXXX
        BBBBB
      XXXX
      XXXX XXXXXXXXXX XXXXX XXXXXX
           XXXXXXXXXXXX pgettext(u'spoken label', u'Steps each way') XX
        XXXXX XXXXXXXXXXXXXX pgettext(u'navigation', u'Steps each way') XXXXXXX
        BBB B BB BBBBBBBBBBBBBB
          XX XXXXXXXXXX XXXXXBB B BB BBBBBBBBBBBBB XXXXXXXBBBBBX
             XXXXXXBBBBB BBBBB BBBBBBB BBBBBBBX
             BB B BB BBBBBBBBBBBBBXXXXXXXXXXXXXXXXXXXBBBBBXXXXX
        BBBBBB
      XXXXXX
    XXXXXX
    XXXX XXXXXXXXXXXXXXXXXXXXX XXXXXXXXXX XXXXXXXXXXXXX
    FFFFFFFFFFFFFFFFFFFFFFFFFFF
    BBB BBBBBB BBBBB BB BBBBBBBBBBBBBB
      BB BBBBB
        XXXXXXXX XXXXXXXFFFFFFFFFFX XXXXXXXFFFFFFX XXXXXXXXXX
          XXXXXX XXXXXXXXXXX XXXXXXX
            XXXXXX XXXXXXXXXXXXXXXXXXXXXXXX
              XXXX
                XXX XXXXXXXXXXXX pgettext(u'column', u'Name') XXXXX
                XXX XXXXXXXXXXXX pgettext(u'column, type', u'Kind') XXXXX
                XXX XXXXXXXXXXXX pgettext(u'column', u'Details') XXXXX
                XXX XXXXXXXXXXXX pgettext(u'column', u'Created') XXXXX
              XXXXX
            XXXXXXXX
            XXXXXXX
              BBB BBBB BB BBBBB
                XXX BB BBBBBBBBBXXXXXXXXXXXXBBBBBX
                  XXX XXXXXXXXXXX XXXXXX
                    BB BBBBBBBBB
                      XX XXXXXXXXXXXXX XXXXXXXXXXXX
                    BBBB
                      XXXXX XXXXXXXXXXXXXXXXXXXXX
                    BBBBB
                    BB BBBBBBBBBBBBBBB
                      XXXXX XXXXXXXXXXX XXXXXX pgettext(u'state', u'deleted') XXXXXXX
                    BBBBB
                  XXXXX
                  XXX XXXXXXXXXXXXX XXXXXXXXXXXX
                  XXX XXXXXXXXXXXX XXXXXX
                    BB BBBBBBBBBB
                      XXXXXXXX XXXXXXXX XX
                    BBBB
                      
                    BBBBB
                  XXXXX
                  XXX XXXXXXXXXX XXXXXX XXXXXXXBB BBBBBBBFFFBBBBBXXXXX
                XXXXX
              BBBBBB
            XXXXXXXX
          XXXXXXXX
        XXXXXXXXXX
      BBBBB
    BBBBBB
    XXXXXXXX XXXXXXXXXXXXX
      XXXXXXXX XXXXXXXXXXXXXX gettext(u'Command line and API') XXXXXXXXXX
      XXXX XXXXXXXXXXXXXXXX
        XXXXXXX XXXXXXXXXXXX XXXXXXX X XX
        XXXXXXX XXXXXXXXX X XX
      XXXXXX
    XXXXXXXXXX
  BBBBB
XXXXXX
