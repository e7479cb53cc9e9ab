BBBB BBBB
 #
 #

XXXXXXXX XXXXXXXXXXXXXXXXX XXXXXXXXXXXX gettext(u'Changes to the spec') XX
  BB BBBBBBBBBBBB
    XX XXXXXXXXXXXX XXXXXXX
       npgettext(u'number of things', u'%(n)s change from #%(parent)s', u'%(n)s changes from #%(parent)s',count) 
        SSSSS SSSSSS SSSS SSSSSSSSSSS
      
        PPPPP PPPPPPP PPPP PPPPPPPPPPP
      
    XXXX
    XXX XXXXXXXXXXXXXXXXXXXXX
      BBB BBBBBB BB BBBBBBBBBBBB
        XXXX
          XXXXXXXXXXXXX
          BB BBBBBBBBBBBBBB
            XXXXX XXXXXXXXXXXXXX pgettext(u'text, jobs', u'changed') XXXXXXX
          BBBB
            BB BBBBBBBBBBBBB BB BBBBXXXXXXXXXXXBBBBB
            BB BBBBBBBBBBBB BB BBBBXXXXXXXXXXXBBBBB
          BBBBB
        XXXXX
      BBBBBB
    XXXXX
    XXXXXX XXXXXXXXXXXXXXXXXXX
      XXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXX
         gettext(u'The YAML of both specs, line by line') 
      XXXXXXXXXX
      XXXXXXX
        BBB BBBB BB BBBBBBBBBB
          XXX XXXXXXXXX
            BB BBBBBBBBB BB BBBBB
              XXXXXXXXX
              XXXX
                 npgettext(u'number of things', u'%(n)s unchanged line', u'%(n)s unchanged lines',count) 
                  SSSSS SSSSSSSSS SSSS
                
                  PPPPP PPPPPPPPP PPPPP
                
              XXXXX
            BBBB
              XXXX
                BB BBBBBBBBB BB BBBBBBB
                  XXXXXX XXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'value', u'added') XXXXXXX
                BBBB BBBBBBBBB BB BBBBBBBBB
                  XXXXXX XXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'value', u'removed') XXXXXXX
                BBBBB
              XXXXX
              XXXX
                XXXXXXXXXXXXX
              XXXXX
            BBBBB
          XXXXX
        BBBBBB
      XXXXXXXX
    XXXXXXXX
  BBBB
    XX XXXXXXXXXXXX XXXXXXX
       gettext(u'The spec is the same as that of #%(parent)s.') 
        SSS SSSS SS SSS SSSS SS SSSS SS SSSSSSSSSSSS
      
    XXXX
  BBBBB
XXXXXXXXXX
